/** Hono by hand, on its server for Node. */
import { getRequestListener } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { listen } from "./listen.ts";
import { andThen, type PeerRequest, type Serve } from "./ports.ts";

const queryOf = (context: Context): PeerRequest["query"] =>
  Object.fromEntries(
    Object.entries(context.req.queries()).map(([name, values]) => [
      name,
      values.length > 1 ? values : values[0],
    ]),
  );

const requestOf = (context: Context, body: unknown): PeerRequest => ({
  authorization: context.req.header("authorization"),
  serviceVersion: context.req.header("service-version"),
  ip: getConnInfo(context).remote.address ?? "",
  query: queryOf(context),
  body,
});

export const serve: Serve = (routes) => {
  const app = new Hono();
  for (const { method, path, answer } of routes) {
    app.on(method, path, (context) => {
      const respond = (read: unknown) =>
        andThen(answer(requestOf(context, read)), ({ status, headers, body }) =>
          context.json(body, status as ContentfulStatusCode, headers),
        );
      return method === "GET"
        ? respond(undefined)
        : context.req.json<unknown>().then(respond, () => respond(undefined));
    });
  }
  const respond = getRequestListener(app.fetch);
  return listen((request, response) => void respond(request, response));
};
