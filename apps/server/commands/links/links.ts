import { Command } from "effect/cli";
import { Json } from "../../cli/output.ts";
import { exportLinksCommand } from "./links_export.ts";
import { importLinksCommand } from "./links_import.ts";

export const linksCommand = Command.make("links").pipe(
  Command.withDescription("Import and export links, also next to a running server."),
  Command.withShortDescription("Import and export links"),
  Command.withSubcommands([importLinksCommand, exportLinksCommand]),
  Command.withGlobalFlags([Json]),
);
