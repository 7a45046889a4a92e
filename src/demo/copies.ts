import { examine } from "../policies/examine.ts";
import { POLICY_TEXTS } from "./policy-documents.ts";
import type { ExampleVersion } from "./policy-history.ts";
import type { PolicyCopy } from "./runtime.ts";

/**
 * Every version of the example policy in parsed form, as runtimes read it.
 *
 * @throws Error if one of them is invalid, which a test rules out
 */
export function policyCopies(): Readonly<Record<ExampleVersion, PolicyCopy>> {
  const copies = Object.entries(POLICY_TEXTS).map(([version, yaml]) => {
    const { document, problems } = examine({ yaml, command: undefined });
    if (!document || problems.length > 0) throw new Error(`Example policy ${version} is not valid`);
    return [version, { version, document }];
  });
  return Object.fromEntries(copies) as Record<ExampleVersion, PolicyCopy>;
}
