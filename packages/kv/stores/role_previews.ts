/** The previews of role plans: at most one for each plan. */
import { arePreviewedAs, type PutPlan, previewTime, type RolePlanStore } from "@accountlink/core/roles";
import { Effect, Option } from "effect";
import { removeInSteps } from "../steps.ts";
import type { Database, Transaction } from "../transaction.ts";
import { previews, settingsOf } from "./role_plans.ts";
import { scopeAt } from "./scopes.ts";

/** Remembers that a plan is on with the settings of its preview. */
export const confirmPreview = Effect.fnUntraced(function* (
  tx: Transaction,
  { pid, guildId, settings, at }: PutPlan,
) {
  const stored = yield* tx.get(previews, pid, guildId);
  const isOfPlan =
    stored?.preview.state === "done" && arePreviewedAs(settingsOf(stored.preview.settings), settings);
  if (settings.state === "on" && isOfPlan) yield* tx.put(previews, { ...stored, confirmedAt: at });
});

type Operations = "startPreview" | "savePreview" | "findPreview";

export const previewOperations = (db: Database): Pick<RolePlanStore["Service"], Operations> => ({
  startPreview: ({ preview, at, pid, guildId }) =>
    Effect.gen(function* () {
      yield* removeInSteps(db, previews.byTime, [], { before: [at - previewTime + 1] });
      yield* db.write(pid, function* (tx) {
        yield* scopeAt(tx, pid);
        yield* tx.put(previews, { pid, guildId, preview, savedAt: at, confirmedAt: null });
      });
    }),

  savePreview: ({ preview, at, pid, guildId }) =>
    db.write(pid, function* (tx) {
      const stored = yield* tx.get(previews, pid, guildId);
      if (stored?.preview.id !== preview.id) return false;
      yield* tx.put(previews, { ...stored, preview, savedAt: at });
      return true;
    }),

  findPreview: ({ pid, guildId }) =>
    db.read(function* (tx) {
      const stored = yield* tx.get(previews, pid, guildId);
      if (stored === undefined) return Option.none();
      const { preview, savedAt, confirmedAt } = stored;
      const settings = settingsOf(preview.settings);
      return Option.some({ preview: { ...preview, settings }, savedAt, confirmedAt });
    }),
});
