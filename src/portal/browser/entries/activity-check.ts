/** Checks the activity log. Its page loads this module beside its own where the log is signed. */
import { watchLog } from "../log-notice.ts";

watchLog("activity");
