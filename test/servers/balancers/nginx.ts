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

/** Why nginx is unavailable, or null; for the title of a skip. Throws with CI=true. */
export const whyNoNginx = nginx.whyNone;

/**
 * Starts an nginx that listens on a free port, and gives the port. It ends with the scope or this
 * process.
 *
 * @param configFor the configuration with which it listens on a port of 127.0.0.1 and keeps its
 * files in a folder
 */
export const startNginx = nginx.start;
