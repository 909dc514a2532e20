/**
 * `accountlink users`
 */
import { Command } from "effect/cli";
import { Json } from "../internal/output.ts";
import { eraseUserCommand } from "./users_erase.ts";
import { exportUserCommand } from "./users_export.ts";

export const usersCommand = Command.make("users").pipe(
  Command.withDescription("Show or erase what is kept about a chat user, also beside a running server."),
  Command.withShortDescription("Show or erase what is kept about a chat user"),
  Command.withSubcommands([exportUserCommand, eraseUserCommand]),
  Command.withGlobalFlags([Json]),
);
