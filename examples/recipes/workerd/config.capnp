using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
  ],
  sockets = [(name = "http", address = "127.0.0.1:3000", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [(name = "main", esModule = embed "dist/main.js")],
  compatibilityDate = "2026-01-01",
  # Long polls and streams end when their client leaves.
  compatibilityFlags = ["enable_request_signal"],
  bindings = [
    (name = "LINKS", durableObjectNamespace = "Links"),
  ],
  durableObjectNamespaces = [(className = "Links", uniqueKey = "links")],
  durableObjectStorage = (inMemory = void),
);
