/**
 * Dated contracts of v2, chosen by the request header `Service-Version`. Each is one module in `service_versions` with
 * a transform of what comes in and one of what goes out; handlers only know the newest shapes.
 */

import type { ParameterProblem } from "@accountlink/core";
import type { EnvelopeV2 } from "@accountlink/http-api";
import { Result } from "effect";
import type { RawValues } from "./parameters.ts";
import { v20260101 } from "./service_versions/v2026_01_01.ts";

/** One dated contract. */
export interface DatedContract {
  readonly date: (typeof EnvelopeV2.serviceVersions)[number];
  /** From the parameters of this contract to the newest ones. */
  readonly request: (routeId: string, values: RawValues) => RawValues;
  /** From the newest data to the data of this contract. */
  readonly response: (routeId: string, data: unknown) => unknown;
}

/** The contract in force when the header is left out. */
export const defaultContract = v20260101;

const contracts = new Map([v20260101].map((contract) => [contract.date, contract]));

/** The contract that a header asks for. */
export const contractFor = (header: string | undefined): Result.Result<DatedContract, ParameterProblem> => {
  if (header === undefined || header === "") return Result.succeed(defaultContract);
  const contract = contracts.get(header as DatedContract["date"]);
  return contract === undefined
    ? Result.fail({ name: "Service-Version", reason: `accepted values: ${[...contracts.keys()].join(", ")}` })
    : Result.succeed(contract);
};
