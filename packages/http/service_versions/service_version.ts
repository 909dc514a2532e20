/**
 * The dated contracts of v2, chosen by the request header `Service-Version`. Each is a module of
 * this folder with a request and a response transform; handlers know the newest shapes only.
 */
import type { ParameterProblem } from "@accountlink/core/errors";
import { Result } from "effect";
import type { DatedContract } from "./dated_contract.ts";
import { v20260101 } from "./v2026_01_01.ts";

/** The contract of requests without the header. */
export const defaultContract = v20260101;

const contracts = new Map([v20260101].map((contract) => [contract.date, contract]));

/** Finds the contract that a header asks for. */
export const contractFor = (header: string | undefined): Result.Result<DatedContract, ParameterProblem> => {
  if (header === undefined || header === "") return Result.succeed(defaultContract);
  const contract = contracts.get(header as DatedContract["date"]);
  return contract === undefined
    ? Result.fail({ name: "Service-Version", reason: `accepted values: ${[...contracts.keys()].join(", ")}` })
    : Result.succeed(contract);
};
