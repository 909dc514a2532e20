import { expect } from "vitest";
import { type Answer, type RequestOptions, textOf } from "../support/http.ts";
import { openReads } from "../support/open_reads.ts";
import { expectV1Refusal, useContractServer } from "./contract_server.ts";

export const routes = { v2: "/v2/sessions", v1: "/api/v1/verify/session" } as const;
export const generations = ["v2", "v1"] as const;
type Generation = (typeof generations)[number];

/** Request options with which a client resumes a stream. The poll interval does not apply to resumed streams. */
export const resuming = { headers: { "last-event-id": "0" } };

export const useSessions = (env: Readonly<Record<string, string>> = {}) => {
  const { fixtures, send, url } = useContractServer({ ACCOUNTLINK_SESSION_CREATE_BURST: "0", ...env });
  const create = (key: string, body: object = {}, generation: Generation = "v2") =>
    send(`POST ${routes[generation]}`, { key, body: { clientId: "client", ...body } });
  const newSid = async (key: string) => textOf((await create(key)).body.data?.sid);
  const read = (sid: string, options: RequestOptions, query = "", generation: Generation = "v2") =>
    send(`GET ${routes[generation]}/${sid}${query}`, options);
  const stream = (sid: string, options: RequestOptions, generation: Generation = "v2") =>
    read(sid, options, "/stream", generation);
  const cancel = (sid: string, key: string) => send(`DELETE /v2/sessions/${sid}`, { key });
  const untilOpen = openReads(send, "session_reads_open");
  return { fixtures, send, url, create, newSid, read, stream, cancel, untilOpen };
};

export const expectRefused = (
  generation: Generation,
  answer: Answer,
  status: number,
  code: string,
  message: string,
) => {
  if (generation === "v1") return expectV1Refusal(answer, status, message);
  expect({ status: answer.status, code: answer.body.error?.code }).toEqual({ status, code });
  expect(answer.body.error?.message).toBe(message);
};
