/**
 * `accountlink audit`
 */
import { Command } from "effect/cli";
import { Json } from "../../cli/output.ts";
import { listAuditCommand } from "./audit_list.ts";

export const auditCommand = Command.make("audit").pipe(
  Command.withDescription("Read the audit log, also next to a running server."),
  Command.withShortDescription("Read the audit log"),
  Command.withSubcommands([listAuditCommand]),
  Command.withGlobalFlags([Json]),
);
