/** Parameters of the peers' routes: first all that are missing, then the first that is invalid. */
import { Refusal, serviceVersion } from "./answers.ts";
import type { PeerRequest } from "./ports.ts";

export const chatIdPattern = /^\d{5,32}$/;
const gameIdPattern = /^\d{1,32}$/;
export const expectedChatId = "expected 5 to 32 digits";
export const maxBulk = 50;

export const invalid = (name: string, reason: string) =>
  new Refusal(400, "INVALID_PARAMETER", `Invalid parameter: ${name} (${reason})`, {
    parameters: [{ name, reason }],
  });

export const requireAll = (values: Readonly<Record<string, unknown>>, ...names: ReadonlyArray<string>) => {
  const parameters = names.filter((name) => isMissing(values[name]));
  if (parameters.length === 0) return;
  const message = `Missing required parameters: ${parameters.join(", ")}`;
  throw new Refusal(400, "MISSING_PARAMETER", message, { parameters });
};

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === "";

const readText = (name: string, value: unknown, pattern: RegExp, expected: string): string => {
  if (Array.isArray(value)) throw invalid(name, "given more than once");
  if (typeof value !== "string" || !pattern.test(value)) throw invalid(name, expected);
  return value;
};

export const readChatId = (name: string, value: unknown) =>
  readText(name, value, chatIdPattern, expectedChatId);
export const readGameId = (value: unknown) =>
  readText("gameId", value, gameIdPattern, "expected 1 to 32 digits");

/** What all routes take, once their own parameters are in order. */
export const readCommon = (
  { guildId, resolved }: Readonly<Record<string, unknown>>,
  { serviceVersion: version }: PeerRequest,
) => {
  const guild = isMissing(guildId) ? null : readChatId("guildId", guildId);
  if (resolved !== undefined && resolved !== "false")
    throw invalid("resolved", "profiles are not served here");
  if (version !== undefined && version !== serviceVersion) {
    throw invalid("Service-Version", `accepted values: ${serviceVersion}`);
  }
  return guild;
};

export const readBody = ({ body }: PeerRequest): Readonly<Record<string, unknown>> => {
  if (typeof body === "object" && body !== null) return body as Readonly<Record<string, unknown>>;
  throw new Refusal(400, "INVALID_BODY", "Invalid request body", { reason: "expected a JSON object" });
};
