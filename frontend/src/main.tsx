/** Where the dashboard starts. */

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { isUnauthenticated } from "./api/errors";
import { App } from "./app/App";
import "./design/tokens.css";
import "./design/base.css";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Live queries are asked again anyway; one retry smooths over a single lost answer.
      retry: (failures, error) => failures < 1 && !isUnauthenticated(error),
      retryDelay: 500,
    },
  },
});

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
