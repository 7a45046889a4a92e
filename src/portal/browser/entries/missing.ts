import "../frame.ts";
