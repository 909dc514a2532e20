/** node:http by hand. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { parse } from "node:querystring";
import { listen } from "./listen.ts";
import type { Answer, PeerRequest, PeerRoute, Serve } from "./ports.ts";

const send = (response: ServerResponse, { status, headers, body }: Answer) => {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
};

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Array<Buffer> = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
};

const answer = (route: PeerRoute, request: IncomingMessage, query: string, response: ServerResponse) => {
  const answerTo = (body: unknown) => {
    const peerRequest: PeerRequest = {
      authorization: request.headers.authorization,
      serviceVersion: request.headers["service-version"] as string | undefined,
      ip: request.socket.remoteAddress ?? "",
      query: query === "" ? {} : parse(query),
      body,
    };
    const answered = route.answer(peerRequest);
    if (!(answered instanceof Promise)) return send(response, answered);
    return answered.then(
      (value) => send(response, value),
      () => response.writeHead(500).end(),
    );
  };
  return route.method === "GET" ? answerTo(undefined) : bodyOf(request).then(answerTo);
};

export const serve: Serve = (routes) => {
  const byName = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  return listen((request, response) => {
    const target = request.url ?? "";
    const mark = target.indexOf("?");
    const path = mark === -1 ? target : target.slice(0, mark);
    const route = byName.get(`${request.method} ${path}`);
    if (route === undefined) response.writeHead(404).end();
    else void answer(route, request, mark === -1 ? "" : target.slice(mark + 1), response);
  });
};
