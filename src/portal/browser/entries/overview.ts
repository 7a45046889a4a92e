import "../frame.ts";
import { hasCommands, overview, renderOverview } from "../../pages/overview.ts";
import { keepFresh } from "../live.ts";

const AWAITED_MS = 3_000;
const REST_MS = 15_000;

/** Whether the page waits for the first heartbeat or the first command. */
let isAwaited = false;

keepFresh(
  {
    ...overview,
    render(model) {
      isAwaited = !hasCommands(model);
      return renderOverview(model);
    },
  },
  () => (isAwaited ? AWAITED_MS : REST_MS),
);
