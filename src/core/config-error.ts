/** A setting that cannot be used; the message is one line that names it and says what is accepted. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
