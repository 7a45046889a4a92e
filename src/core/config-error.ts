/** An invalid setting. The message is one line that names the setting and says what is accepted. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
