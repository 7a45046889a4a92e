/** The property of V8; the types of browsers do not have it. */
const traces = Error as { stackTraceLimit?: number };

/** Runs a task that makes very many errors, of which the stack traces would take most of the time. */
export function withoutStackTraces<T>(task: () => T): T {
  const { stackTraceLimit = 0 } = traces;
  traces.stackTraceLimit = 0;
  try {
    return task();
  } finally {
    traces.stackTraceLimit = stackTraceLimit;
  }
}
