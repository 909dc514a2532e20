import { Command } from "effect/cli";
import { Json } from "../../cli/output.ts";
import { eraseUserCommand } from "./users_erase.ts";
import { exportUserCommand } from "./users_export.ts";

export const usersCommand = Command.make("users").pipe(
  Command.withDescription("Show or erase what is stored about a chat user, also next to a running server."),
  Command.withShortDescription("Show or erase what is stored about a chat user"),
  Command.withSubcommands([exportUserCommand, eraseUserCommand]),
  Command.withGlobalFlags([Json]),
);
