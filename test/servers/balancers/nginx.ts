import { makeBalancer } from "./balancer.ts";

const nginx = makeBalancer({
  name: "nginx",
  names: ["nginx"],
  path: "usr/sbin/nginx",
  packages: ["nginx"],
  argumentsFor: (config, folder) => [
    "-p",
    folder,
    "-c",
    config,
    "-e",
    "stderr",
    "-g",
    `daemon off; pid ${folder}/nginx.pid;`,
  ],
});

/** Why nginx is unavailable, or null; it is shown in titles of skipped tests. Throws with CI=true. */
export const whyNoNginx = nginx.whyNone;

/**
 * Starts an nginx that listens on a free port, and returns the port. It ends with the scope or this process.
 *
 * @param configFor returns its configuration for a port of 127.0.0.1 and a folder for its files
 */
export const startNginx = nginx.start;
