import { KeyStore } from "@accountlink/core/keys";
import { Effect } from "effect";
import { Command } from "effect/cli";
import { answer, formatTable } from "../../cli/output.ts";
import { managementLayer } from "../management_layer.ts";

export const listAccountsCommand = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const accounts = yield* (yield* KeyStore).listAccounts();
    const rows = accounts.map(({ name, chatId, tier, status }) => [name, chatId ?? "none", tier, status]);
    yield* answer(
      { accounts },
      rows.length === 0
        ? "There are no accounts"
        : formatTable(["ACCOUNT", "CHAT USER", "TIER", "STATUS"], rows),
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(Command.withDescription("List accounts by name."));
