/** Fastify by hand. */
import type { AddressInfo } from "node:net";
import fastify, { type FastifyReply } from "fastify";
import type { Answer, PeerRequest, Serve } from "./ports.ts";

const send = (reply: FastifyReply, { status, headers, body }: Answer) =>
  void reply.code(status).headers(headers).send(body);

export const serve: Serve = async (routes) => {
  const app = fastify({ logger: false });
  for (const { method, path, answer } of routes) {
    app.route({
      method,
      url: path,
      handler: (request, reply) => {
        const answered = answer({
          authorization: request.headers.authorization,
          serviceVersion: request.headers["service-version"] as string | undefined,
          ip: request.ip,
          query: request.query as PeerRequest["query"],
          body: request.body,
        });
        if (!(answered instanceof Promise)) return send(reply, answered);
        void answered.then(
          (value) => send(reply, value),
          (error: unknown) => void reply.send(error),
        );
      },
    });
  }
  await app.listen({ host: "127.0.0.1", port: 0 });
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
};
