/** Hono by hand, on its server for Node. */
import type { AddressInfo } from "node:net";
import { serve as listen } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
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

export const serve: Serve = async (routes) => {
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
  const server = listen({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 });
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
    },
  };
};
