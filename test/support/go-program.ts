/** Builds the Go programs of the documents with Debian's packages `golang-go` and `golang-golang-x-mod-dev`. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const GOPATH = "/usr/share/gocode";
const NOTE = `${GOPATH}/src/golang.org/x/mod/sumdb/note`;
const hasGo = existsSync(NOTE) && spawnSync("go", ["version"]).status === 0;

if (!hasGo && process.env["REQUIRE_GO"] === "1") {
  throw new Error(`REQUIRE_GO is 1, and there is no go, or no ${NOTE}`);
}

/** Why tests with Go programs are skipped here; `false` where they run. Given to `test` as `skip`. */
export const withoutGo: string | false =
  !hasGo && "install golang-go and golang-golang-x-mod-dev to run this";

/** Builds a program of one file. */
export function buildGo(source: string, program: string): void {
  const env = { ...process.env, GO111MODULE: "off", GOPATH };
  const built = spawnSync("go", ["build", "-o", program, source], { env, encoding: "utf8" });
  if (built.status !== 0) throw new Error(built.stderr);
}
