import "../frame.ts";
import { overview } from "../../pages/overview.ts";
import { keepFresh } from "../live.ts";

keepFresh(overview, 15_000);
