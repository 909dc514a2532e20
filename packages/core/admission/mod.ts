/** Who may link in a community. @internal */
export * from "./admission.ts";
