/** The random commands of the property suite, for tests that run these commands outside the suite. @internal */
export * from "./command.ts";
export * from "./run_command.ts";
export * from "./verification_command.ts";
