/** The commands of the property suite, for tests that run them in other ways. @internal */
export * from "./command.ts";
export * from "./run_command.ts";
export * from "./verification_command.ts";
