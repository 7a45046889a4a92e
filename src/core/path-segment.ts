/**
 * Encodes an id as a segment of a path. Every URL parser reads `.` and `..` as steps in the path, encoded or not. So they
 * get a space in front of them, which the service removes around ids that have none.
 */
export function pathSegment(id: string): string {
  return (id === "." || id === ".." ? "%20" : "") + encodeURIComponent(id);
}
