import type { PolicyDocument } from "./rules.ts";

/**
 * The document for tools of agents that run no command: its rules about capabilities and providers. A tool that no rule
 * matches may run, since documents are written for commands.
 */
export function rulesForTools(document: PolicyDocument): PolicyDocument {
  const rules = document.rules.filter(
    ({ match }) => !match.commands && (match.capabilities ?? match.providers),
  );
  return { ...document, default: "allow", rules };
}
