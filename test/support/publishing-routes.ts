/** The routes that keys of the scope `policy` may use, beside reading policies. */
export const PUBLISHING_ROUTES = [
  "POST /policies",
  "POST /policies/{version}/activate",
  "POST /policies/validate",
  "POST /policies/simulate",
  "POST /policies/replay",
  "POST /rollouts",
  "GET /rollouts",
  "GET /rollouts/{id}",
  "POST /rollouts/{id}/advance",
  "POST /rollouts/{id}/pause",
  "POST /rollouts/{id}/resume",
  "POST /rollouts/{id}/roll_back",
];
