-- Audit events. Moments are in milliseconds since 1970 (`…_ms`), since timestamps keep exactly these.
-- Texts have the form that src/storage/postgres/text.ts describes; `line` is the JSON as it was answered.

-- One row for each organization. The transaction that stores events holds its lock until the commit, so row
-- numbers become visible in their order, and no reader can miss a row that commits late.
CREATE TABLE audit_heads (
  organization_id text COLLATE "C" PRIMARY KEY,
  last_seq  bigint NOT NULL DEFAULT 0,            -- the row number of the newest event
  events    bigint NOT NULL DEFAULT 0,
  bytes     bigint NOT NULL DEFAULT 0,
  first_day date NOT NULL DEFAULT '-infinity'     -- events of earlier days are removed: nothing shows them
) WITH (fillfactor = 50);

-- The events. `day` is the day of their arrival, in UTC. The server creates partitions ahead.
CREATE TABLE audit_events (
  organization_id text COLLATE "C" NOT NULL,
  seq          bigint NOT NULL,                   -- rises in the order of ingest, without gaps
  day          date NOT NULL,
  time_ms      bigint NOT NULL,
  bytes        integer NOT NULL,                  -- of the line and the newline after it
  ai           boolean NOT NULL,
  decision     text COLLATE "C",
  consumer     text COLLATE "C",
  provider     text COLLATE "C",
  executor     text COLLATE "C",
  capability   text COLLATE "C",
  status       text COLLATE "C",
  runtime_name text COLLATE "C",
  trace_id     text COLLATE "C",
  policy       text COLLATE "C",
  reported_by  text COLLATE "C",
  observed_decision text COLLATE "C",             -- of a runtime in observe mode
  search       text COLLATE "C" NOT NULL,         -- in lower case: the fields of `q`, each followed by U+FDE0; U+FDE1; the reason and U+FDE0
  line         text COLLATE "C" NOT NULL,
  PRIMARY KEY (organization_id, seq, day)
) PARTITION BY LIST (day);

CREATE INDEX audit_events_time ON audit_events (organization_id, time_ms, seq);
-- Only the beginning of the trace: it may be 64 KiB of text, which is too long for an index.
CREATE INDEX audit_events_trace ON audit_events (organization_id, left(trace_id, 64)) WHERE trace_id IS NOT NULL;

-- The partitions. The row of a day is the lock of those who create or drop its partition.
CREATE TABLE audit_partitions (
  day          date PRIMARY KEY,
  is_indexed   boolean NOT NULL DEFAULT false,    -- for exact filters; see closed-days.ts
  has_trigrams boolean NOT NULL DEFAULT false     -- for searches
);

-- The event of each id. An id identifies the first event of its reporter ('' for callers without credentials).
-- `audit_append_1` stores no second event under a client's id. The key has `seq` too, so that an insert need not look
-- for other rows of an id: that took about a fifth of the database's time for an event.
CREATE TABLE audit_ids (
  organization_id text COLLATE "C" NOT NULL,
  id       text COLLATE "C" NOT NULL,
  reporter text COLLATE "C" NOT NULL,
  seq      bigint NOT NULL,
  day      date NOT NULL,
  bytes    integer NOT NULL,                      -- of the event
  PRIMARY KEY (organization_id, id, reporter, seq)
);

CREATE INDEX audit_ids_day ON audit_ids USING brin (day) WITH (autosummarize = on);

-- Counts by day of arrival, minute of the timestamp, and the most used filters; '' means no decision. With them a
-- query reads only the partitions of the days that it needs.
CREATE TABLE audit_days (
  organization_id text COLLATE "C" NOT NULL,
  day        date NOT NULL,
  decision   text COLLATE "C" NOT NULL,
  consumer   text COLLATE "C" NOT NULL,
  events     bigint NOT NULL,
  bytes      bigint NOT NULL,
  oldest_ms  bigint NOT NULL,
  newest_ms  bigint NOT NULL,
  last_seq   bigint NOT NULL,
  removed_at timestamptz,                         -- from then on the rows of the day may be deleted
  PRIMARY KEY (organization_id, day, decision, consumer)
) WITH (fillfactor = 50);

CREATE TABLE audit_minutes (
  organization_id text COLLATE "C" NOT NULL,
  minute_ms bigint NOT NULL,
  day       date NOT NULL,
  decision  text COLLATE "C" NOT NULL,
  consumer  text COLLATE "C" NOT NULL,
  ai        boolean NOT NULL,
  would_deny boolean NOT NULL,                    -- the observed decision is DENIED
  events    bigint NOT NULL,
  PRIMARY KEY (organization_id, minute_ms, day, decision, consumer, ai, would_deny)
) WITH (fillfactor = 50);

CREATE INDEX audit_minutes_day ON audit_minutes USING brin (day) WITH (autosummarize = on);

-- By minute and provider, up to the row in `audit_counted`.
CREATE TABLE audit_provider_minutes (
  organization_id text COLLATE "C" NOT NULL,
  provider  text COLLATE "C" NOT NULL,            -- see audit_provider_key
  minute_ms bigint NOT NULL,
  day       date NOT NULL,
  events    bigint NOT NULL,
  failed    bigint NOT NULL,
  newest_ms bigint NOT NULL,
  PRIMARY KEY (organization_id, provider, minute_ms, day)
) WITH (fillfactor = 50);

CREATE INDEX audit_provider_minutes_time ON audit_provider_minutes (organization_id, minute_ms);
CREATE INDEX audit_provider_minutes_day ON audit_provider_minutes USING brin (day) WITH (autosummarize = on);

-- The name under which a provider is counted: of a very long name, U+FDE0 and its SHA-256. See records.ts.
-- STABLE as `convert_to` is; otherwise it could not be inlined.
CREATE FUNCTION audit_provider_key(provider text) RETURNS text
LANGUAGE sql STABLE
RETURN CASE WHEN octet_length(provider) <= 1024 THEN provider
            ELSE chr(64992) || encode(sha256(convert_to(provider, 'UTF8')), 'hex') END;

-- The row up to which the events of an organization are counted by provider, hour and value. `audit_count_1` counts
-- some thousand events at a time, after they are stored; a query counts the later ones by itself.
CREATE TABLE audit_counted (
  organization_id text COLLATE "C" PRIMARY KEY,
  seq bigint NOT NULL
);

-- By hour of the timestamp.
CREATE TABLE audit_hours (
  organization_id text COLLATE "C" NOT NULL,
  hour_ms  bigint NOT NULL,
  day      date NOT NULL,
  decision text COLLATE "C" NOT NULL,
  consumer text COLLATE "C" NOT NULL,
  events   bigint NOT NULL,
  PRIMARY KEY (organization_id, hour_ms, day, decision, consumer)
);

CREATE INDEX audit_hours_day ON audit_hours USING brin (day) WITH (autosummarize = on);

-- By day of arrival and the value of a column, such as 'executor'. Very long values are not counted.
CREATE TABLE audit_values (
  organization_id text COLLATE "C" NOT NULL,
  field    text COLLATE "C" NOT NULL,
  value    text COLLATE "C" NOT NULL,
  day      date NOT NULL,
  decision text COLLATE "C" NOT NULL,
  consumer text COLLATE "C" NOT NULL,
  events   bigint NOT NULL,
  PRIMARY KEY (organization_id, field, value, day, decision, consumer)
);

CREATE INDEX audit_values_day ON audit_values USING brin (day) WITH (autosummarize = on);

-- Running exports. Retention deletes no day from an export's first day on before the export ends.
CREATE TABLE audit_readers (
  id         text COLLATE "C" PRIMARY KEY,
  first_day  date NOT NULL,
  expires_at timestamptz NOT NULL
);

-- Stores events of some organizations, all or none. One call is one transaction and one round trip, so the
-- lock of an organization is held no longer than the commit takes. Returns a row for each organization that got
-- events, and one for each event that was sent before, with the place of the stored event.
-- `bytes` are those of the organization, or of the event.
--
-- `organizations` is sorted, each once; `place` is an event's place in the arrays, from 1.
-- A later version of this function gets another name: servers of two versions run side by side.
CREATE FUNCTION audit_append_1(organizations text[], is_relaxed boolean,
  organization_ids text[], ids text[], are_named text[], days text[], times_ms text[], ais text[],
  decisions text[], consumers text[], providers text[], executors text[], capabilities text[], statuses text[],
  runtime_names text[], trace_ids text[], policies text[], reporters text[], observed_decisions text[],
  searches text[], lines text[])
RETURNS TABLE (organization_id text, seq bigint, bytes bigint, place bigint, day text)
LANGUAGE plpgsql
-- All calls of a connection share one plan, which must not be made for small tables, since these grow. A batch of
-- long events must fit into the memory of a step. No step takes long enough for JIT compilation to pay.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET work_mem = '64MB'
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  locked integer;
BEGIN
  IF is_relaxed THEN
    PERFORM set_config('synchronous_commit', 'off', true);
  END IF;
  LOOP
    -- In the order of their ids, so that two servers cannot deadlock.
    PERFORM FROM audit_heads h WHERE h.organization_id = ANY (organizations)
      ORDER BY h.organization_id FOR UPDATE;
    GET DIAGNOSTICS locked = ROW_COUNT;
    EXIT WHEN locked = cardinality(organizations);
    INSERT INTO audit_heads (organization_id) SELECT unnest(organizations) ON CONFLICT DO NOTHING;
  END LOOP;

  -- A separate statement: it must see the rows that were committed while this call waited for the lock.
  RETURN QUERY
  WITH locked AS MATERIALIZED (
    SELECT h.organization_id, h.first_day, h.last_seq FROM audit_heads h WHERE h.organization_id = ANY (organizations)
  ), sent AS MATERIALIZED (
    SELECT h.organization_id, h.first_day, h.last_seq, ids[place] AS id, coalesce(reporters[place], '') AS reporter, place
      FROM unnest(organization_ids) WITH ORDINALITY AS s (organization_id, place)
      JOIN locked h ON h.organization_id = s.organization_id
  ), known AS MATERIALIZED (
    SELECT s.organization_id, s.place, k.seq, k.day, k.bytes
      FROM sent s
     CROSS JOIN LATERAL (
           SELECT i.seq, i.day, i.bytes FROM audit_ids i
            WHERE i.organization_id = s.organization_id AND i.id = s.id AND i.reporter = s.reporter
              AND i.day >= s.first_day
            ORDER BY i.seq LIMIT 1) k
     WHERE are_named[s.place]::boolean
  ), placed AS (
    SELECT s.*, s.last_seq + row_number() OVER (PARTITION BY s.organization_id ORDER BY s.place) AS seq
      FROM sent s
     WHERE NOT EXISTS (SELECT FROM known k WHERE k.place = s.place)
  ), fresh AS MATERIALIZED (
    SELECT organization_id, seq, place, id, reporter, greatest(days[place]::date, first_day) AS day,
           times_ms[place]::bigint AS time_ms, octet_length(lines[place]) + 1 AS bytes, ais[place]::boolean AS ai,
           decisions[place] AS decision, consumers[place] AS consumer, observed_decisions[place] AS observed_decision
      FROM placed
  ), stored AS (
    INSERT INTO audit_events (organization_id, seq, day, time_ms, bytes, ai, decision, consumer, provider,
           executor, capability, status, runtime_name, trace_id, policy, reported_by, observed_decision,
           search, line)
    SELECT organization_id, seq, day, time_ms, bytes, ai, decision, consumer, providers[place],
           executors[place], capabilities[place], statuses[place], runtime_names[place], trace_ids[place],
           policies[place], reporters[place], observed_decision, searches[place], lines[place]
      FROM fresh
  ), ids AS (
    INSERT INTO audit_ids (organization_id, id, reporter, seq, day, bytes)
    SELECT organization_id, id, reporter, seq, day, bytes FROM fresh
  ), days AS (
    INSERT INTO audit_days AS d (organization_id, day, decision, consumer, events, bytes, oldest_ms, newest_ms, last_seq)
    SELECT organization_id, day, coalesce(decision, ''), coalesce(consumer, ''),
           count(*), sum(bytes), min(time_ms), max(time_ms), max(seq)
      FROM fresh GROUP BY 1, 2, 3, 4
    ON CONFLICT (organization_id, day, decision, consumer) DO UPDATE
      SET events = d.events + excluded.events, bytes = d.bytes + excluded.bytes,
          oldest_ms = least(d.oldest_ms, excluded.oldest_ms),
          newest_ms = greatest(d.newest_ms, excluded.newest_ms), last_seq = excluded.last_seq
  ), minutes AS (
    INSERT INTO audit_minutes AS m (organization_id, minute_ms, day, decision, consumer, ai, would_deny, events)
    SELECT organization_id, time_ms - (time_ms % 60000 + 60000) % 60000, day,
           coalesce(decision, ''), coalesce(consumer, ''), ai, coalesce(observed_decision = 'DENIED', false), count(*)
      FROM fresh GROUP BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT (organization_id, minute_ms, day, decision, consumer, ai, would_deny) DO UPDATE
      SET events = m.events + excluded.events
  ), heads AS (
    UPDATE audit_heads h
       SET last_seq = h.last_seq + f.events, events = h.events + f.events, bytes = h.bytes + f.bytes
      FROM (SELECT organization_id, count(*) AS events, sum(bytes) AS bytes FROM fresh GROUP BY 1) f
     WHERE h.organization_id = f.organization_id
    RETURNING h.organization_id, h.last_seq, h.bytes
  )
  SELECT organization_id, last_seq, bytes, NULL::bigint, NULL::text FROM heads
  UNION ALL
  SELECT organization_id, seq, bytes, place, day::text FROM known;
END
$$;

-- Counts the next events of an organization, up to a number. Returns the number of uncounted events; 0 while
-- another server counts them.
CREATE FUNCTION audit_count_1(organization text, most integer) RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off
SET work_mem = '64MB'
SET jit = off
AS $$
DECLARE
  done   bigint;  -- the last row that was counted before
  upto   bigint;  -- the last row that is counted now
  newest bigint;
  days   date[];
BEGIN
  INSERT INTO audit_counted (organization_id, seq) VALUES (organization, 0) ON CONFLICT DO NOTHING;
  SELECT c.seq INTO done FROM audit_counted c WHERE c.organization_id = organization FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  SELECT h.last_seq, least(h.last_seq, done + most) INTO newest, upto
    FROM audit_heads h WHERE h.organization_id = organization;
  IF upto IS NULL OR upto = done THEN
    RETURN 0;
  END IF;
  days := ARRAY(
    SELECT DISTINCT d.day FROM audit_days d JOIN audit_heads h ON h.organization_id = d.organization_id
     WHERE d.organization_id = organization AND d.last_seq > done AND d.day >= h.first_day);

  WITH next AS MATERIALIZED (
    SELECT day, time_ms, coalesce(decision, '') AS decision, coalesce(consumer, '') AS consumer,
           provider, executor, capability, status, runtime_name, policy, reported_by, observed_decision
      FROM audit_events
     WHERE organization_id = organization AND seq > done AND seq <= upto AND day = ANY (days)
  ), providers AS (
    INSERT INTO audit_provider_minutes AS m (organization_id, provider, minute_ms, day, events, failed, newest_ms)
    SELECT organization, audit_provider_key(provider), time_ms - (time_ms % 60000 + 60000) % 60000, day, count(*),
           count(*) FILTER (WHERE decision = 'DENIED' OR lower(status COLLATE "C") IN ('failed', 'error')), max(time_ms)
      FROM next WHERE provider IS NOT NULL
     GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
    ON CONFLICT (organization_id, provider, minute_ms, day) DO UPDATE
      SET events = m.events + excluded.events, failed = m.failed + excluded.failed,
          newest_ms = greatest(m.newest_ms, excluded.newest_ms)
  ), hours AS (
    INSERT INTO audit_hours AS h (organization_id, hour_ms, day, decision, consumer, events)
    SELECT organization, time_ms - (time_ms % 3600000 + 3600000) % 3600000, day, decision, consumer, count(*)
      FROM next GROUP BY 2, 3, 4, 5 ORDER BY 2, 3, 4, 5
    ON CONFLICT (organization_id, hour_ms, day, decision, consumer) DO UPDATE
      SET events = h.events + excluded.events
  )
  INSERT INTO audit_values AS v (organization_id, field, value, day, decision, consumer, events)
  SELECT organization, field, value, day, decision, consumer, events FROM (
    SELECT CASE 0 WHEN grouping(provider) THEN 'provider' WHEN grouping(executor) THEN 'executor'
                  WHEN grouping(capability) THEN 'capability' WHEN grouping(status) THEN 'status'
                  WHEN grouping(runtime_name) THEN 'runtime_name' WHEN grouping(policy) THEN 'policy'
                  WHEN grouping(reported_by) THEN 'reported_by'
                  WHEN grouping(observed_decision) THEN 'observed_decision' END AS field,
           -- Each grouping set has one of these columns; the others are NULL.
           coalesce(provider, executor, capability, status, runtime_name, policy, reported_by,
                    observed_decision) AS value,
           day, decision, consumer, count(*) AS events
      FROM next
     GROUP BY day, decision, consumer,
           GROUPING SETS (provider, executor, capability, status, runtime_name, policy, reported_by,
                          observed_decision)) AS counts
   WHERE octet_length(value) <= 256 ORDER BY 2, 3, 4, 5, 6
  ON CONFLICT (organization_id, field, value, day, decision, consumer) DO UPDATE
    SET events = v.events + excluded.events;

  UPDATE audit_counted c SET seq = upto WHERE c.organization_id = organization;
  RETURN newest - upto;
END
$$;
