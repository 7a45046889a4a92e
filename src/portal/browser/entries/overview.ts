import "../frame.ts";
import { hasCommands, overview } from "../../pages/overview.ts";
import { keepFresh } from "../live.ts";

// The first heartbeat or the first command is shown soon after it arrives.
keepFresh(overview, 15_000, { everyMs: 3_000, isAwaited: (model) => !hasCommands(model) });
