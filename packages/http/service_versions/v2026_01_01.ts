/**
 * The first contract, and so far the newest: nothing to transform.
 */
import type { DatedContract } from "../service_version.ts";

export const v20260101: DatedContract = {
  date: "2026-01-01",
  request: (_routeId, values) => values,
  response: (_routeId, data) => data,
};
