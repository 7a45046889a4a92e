// Few rules, each of which finds defects that the compiler and the repository's tests do not.
import tseslint from "typescript-eslint";

// What test harnesses replace by fakes that stand still until they are told to go on.
const FAKEABLE = [
  ...["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "performance"],
  ...["clearTimeout", "clearInterval", "clearImmediate", "globalThis", "global"],
];
const REAL_ONES = "Take it from core/timers.ts: in a test harness the global may be a fake.";

export default tseslint.config(
  { ignores: ["dist/**", "node_modules/**", "data/**", "src/portal/static/**"] },
  {
    files: ["src/**/*.ts", "test/**/*.ts", "bench/**/*.ts"],
    plugins: { "@typescript-eslint": tseslint.plugin },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-console": "error",
      "no-constant-binary-expression": "error",
      "no-control-regex": "error",
      "no-debugger": "error",
      "no-eval": "error",
      "no-fallthrough": "error",
      "no-implicit-coercion": ["error", { boolean: false }],
      "no-param-reassign": "error",
      "no-self-compare": "error",
      "no-template-curly-in-string": "error",
      "no-unreachable-loop": "error",
      "no-unsafe-finally": "error",
      "no-useless-backreference": "error",
      "no-var": "error",
      "prefer-const": "error",
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-array-delete": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": [
        "error",
        {
          allowForKnownSafeCalls: [
            { from: "package", name: ["test", "suite", "describe", "it"], package: "node:test" },
          ],
        },
      ],
      "@typescript-eslint/no-for-in-array": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/only-throw-error": "error",
      "@typescript-eslint/require-array-sort-compare": ["error", { ignoreStringArrays: true }],
      "@typescript-eslint/restrict-plus-operands": "error",
      "@typescript-eslint/return-await": ["error", "error-handling-correctness-only"],
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/core/timers.ts", "src/portal/browser/**"],
    rules: {
      "no-restricted-globals": ["error", ...FAKEABLE.map((name) => ({ name, message: REAL_ONES }))],
      "no-restricted-imports": [
        "error",
        ...["node:timers", "node:timers/promises"].map((name) => ({ name, message: REAL_ONES })),
      ],
    },
  },
  {
    files: ["test/**/*.ts", "bench/**/*.ts"],
    rules: { "no-console": "off", "@typescript-eslint/require-array-sort-compare": "off" },
  },
);
