/**
 * What a verification meets in a real browser besides the service: the site of a client, and the pictures of accounts.
 */
import { createServer } from "node:http";
import { listenLocally } from "@accountlink/test-servers";

/** A site at `url` that greets whoever comes, and has one picture. */
export interface FlowSite {
  readonly url: string;
  readonly picture: string;
  readonly close: () => void;
}

const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#5b7cfa"/><circle cx="4" cy="3" r="1.6" fill="#fff"/><rect x="1.4" y="5.2" width="5.2" height="2.8" rx="1.4" fill="#fff"/></svg>`;

export const startFlowSite = async (): Promise<FlowSite> => {
  const server = createServer(({ url }, response) => {
    const isPicture = url === "/face.svg";
    response.setHeader("content-type", isPicture ? "image/svg+xml" : "text/html; charset=utf-8");
    response.end(
      isPicture
        ? picture
        : '<!doctype html><html lang="en"><title>Client</title><link rel="icon" href="data:,"><h1>Welcome back</h1>',
    );
  });
  const url = `http://127.0.0.1:${await listenLocally(server)}`;
  return {
    url,
    picture: `${url}/face.svg`,
    close: () => server.close().closeAllConnections(),
  };
};
