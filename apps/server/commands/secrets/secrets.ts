/**
 * `accountlink secrets`
 */
import { Command } from "effect/cli";
import { Json } from "../../cli/output.ts";
import { rotateSecretsCommand } from "./secrets_rotate.ts";

export const secretsCommand = Command.make("secrets").pipe(
  Command.withDescription("Rotate the secret of the deployment and the address keys"),
  Command.withSubcommands([rotateSecretsCommand]),
  Command.withGlobalFlags([Json]),
);
