import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The project's own TypeScript files below a folder of the repository, by their path from its top. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(`${root}/${folder}`, { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !path.includes("/node_modules/"))
    .sort();
}

export function readSource(path: string): string {
  return readFileSync(`${root}/${path}`, "utf8");
}

const parsed = new Map<string, ts.SourceFile>();

/** The syntax tree of a file, with its comments and without types; made once, since several tests read all files. */
export function parseSource(path: string): ts.SourceFile {
  const known = parsed.get(path);
  if (known) return known;
  const tree = ts.createSourceFile(path, readSource(path), ts.ScriptTarget.ES2023, true);
  parsed.set(path, tree);
  return tree;
}

/** Every node of a tree, parents first. */
export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  node.forEachChild((child) => void children.push(child));
  for (const child of children) yield* nodesOf(child);
}

/** The position of a node, as `src/core/ids.ts:12`. */
export function placeOf(node: ts.Node): string {
  const file = node.getSourceFile();
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}
