import { BadInput } from "../core/errors.ts";
import { validate } from "../core/validate.ts";
import { settingsUpdate, type Setting } from "./schema.ts";

/** The body that replaces an organization's settings. */
export const settingsUpdateBody = {
  schema: settingsUpdate,
  read(value: unknown): readonly Setting[] {
    const given = validate(settingsUpdate, value).settings;
    const seen = new Set<string>();
    for (const [index, { key }] of given.entries()) {
      if (seen.has(key)) throw new BadInput(`settings[${index}].key: "${key}" is given twice`);
      seen.add(key);
    }
    return given.map((setting) => ({ key: setting.key, value: setting.value ?? "" }));
  },
};
