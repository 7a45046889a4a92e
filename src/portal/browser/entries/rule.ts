import "../frame.ts";
import { rule } from "../../pages/rule.ts";
import { keepFresh } from "../live.ts";

keepFresh(rule, 60_000);
