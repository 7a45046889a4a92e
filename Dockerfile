# Builds the service in one image and runs it from another that holds nothing but what it needs.
# docs/operations.md says how to run it.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig*.json ./
COPY src ./src
# The build's context has no .git: what is not given here is shown as unknown.
ARG COMMIT=
# The time of the build in seconds: with it, the compiled files of a commit are always the same.
ARG SOURCE_DATE_EPOCH=
# `pg` for servers that keep their data in PostgreSQL.
ARG DRIVER=
RUN npm run build -- "$COMMIT" && npm prune --omit=dev
RUN if [ -n "$DRIVER" ]; then npm install --prefix /driver "$DRIVER" && cp -r /driver/node_modules/. node_modules/; fi

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY catalog ./catalog
# The service makes its directories 0700: they have to be its own user's from the start.
RUN mkdir -m 0700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["node", "dist/server.js"]
