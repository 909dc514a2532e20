/** Reads what a database holds, and asks whether it may be used, before anything is written to it. */
import { StorageCheck } from "@accountlink/core";
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { isTableMissing, refuseNewer } from "./migrations.ts";
import { mark } from "./move/tables.ts";
import { type PlaceOf, readPlaceRows, restFoundOn } from "./storage_place.ts";

/** Fails with `StorageRefused` or `DatabaseTooNew`. */
export const checkStorage = Effect.fnUntraced(function* (place: PlaceOf) {
  const sql = yield* SqlClient.SqlClient;
  yield* refuseNewer;
  const [stored] = (yield* isTableMissing("root_key"))
    ? []
    : yield* sql<{ readonly wrapped: string }>`SELECT wrapped FROM root_key`;
  const rest = (yield* isTableMissing("storage_place"))
    ? null
    : yield* restFoundOn(readPlaceRows(sql, place));
  const check = yield* StorageCheck;
  yield* check({
    rootKey: stored?.wrapped ?? null,
    rest,
    isHalfMoved: !(yield* isTableMissing(mark)),
  });
});
