/**
 * Dated contracts of v2, chosen by the request header `Service-Version`. Each is one value with a transform of what
 * comes in and one of what goes out; handlers only know the newest shapes.
 */

import type { ParameterProblem } from "@accountlink/core";
import { Result } from "effect";
import type { RawValues } from "./parameters.ts";

/** One dated contract. */
export interface DatedContract {
  readonly date: string;
  /** From the parameters of this contract to the newest ones. */
  readonly request: (routeId: string, values: RawValues) => RawValues;
  /** From the newest data to the data of this contract. */
  readonly response: (routeId: string, data: unknown) => unknown;
}

/** The first contract, and so far the newest: nothing to transform. */
const contract20260101: DatedContract = {
  date: "2026-01-01",
  request: (_routeId, values) => values,
  response: (_routeId, data) => data,
};

/** The contract in force when the header is left out. */
export const defaultContract = contract20260101;

const contracts = new Map([contract20260101].map((contract) => [contract.date, contract]));

/** The contract that a header asks for. */
export const contractFor = (header: string | undefined): Result.Result<DatedContract, ParameterProblem> => {
  if (header === undefined || header === "") return Result.succeed(defaultContract);
  const contract = contracts.get(header);
  return contract === undefined
    ? Result.fail({ name: "Service-Version", reason: `accepted values: ${[...contracts.keys()].join(", ")}` })
    : Result.succeed(contract);
};
