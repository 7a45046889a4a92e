/** The first part of the names of all logs of a deployment: the host of its base URL. */
export function logHostOf(baseUrl: string | undefined): string {
  return baseUrl === undefined ? "signalbox" : new URL(baseUrl).host;
}
