import { Command } from "effect/cli";
import { Json } from "../../cli/output.ts";
import { createKeyCommand } from "./keys_create.ts";
import { listKeysCommand } from "./keys_list.ts";
import { rotateKeyCommand } from "./keys_rotate.ts";
import { disableKeyCommand, enableKeyCommand, revokeKeyCommand } from "./keys_status.ts";
import { updateKeyCommand } from "./keys_update.ts";

export const keysCommand = Command.make("keys").pipe(
  Command.withDescription(
    "Manage API keys, also next to a running server, which applies every change within a second.",
  ),
  Command.withShortDescription("Manage API keys"),
  Command.withSubcommands([
    createKeyCommand,
    listKeysCommand,
    updateKeyCommand,
    rotateKeyCommand,
    disableKeyCommand,
    enableKeyCommand,
    revokeKeyCommand,
  ]),
  Command.withGlobalFlags([Json]),
);
