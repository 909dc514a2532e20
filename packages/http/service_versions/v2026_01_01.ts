/**
 * The first contract and the newest: nothing to transform.
 */
import type { DatedContract } from "./dated_contract.ts";

export const v20260101: DatedContract = {
  date: "2026-01-01",
  request: (_routeId, values) => values,
  response: (_routeId, data) => data,
};
