import "../frame.ts";
import { executor } from "../../pages/executor.ts";
import { keepFresh } from "../live.ts";

keepFresh(executor, 15_000);
