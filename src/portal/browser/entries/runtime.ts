import "../frame.ts";
import { runtime } from "../../pages/runtime.ts";
import { keepFresh } from "../live.ts";

keepFresh(runtime, 15_000);
