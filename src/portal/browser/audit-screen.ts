import type { AuditEvent, Histogram } from "../../audit/schema.ts";
import { withArrivals, withOlder } from "../pages/audit-arrivals.ts";
import { auditPage } from "../pages/audit.ts";
import {
  PAGE_EVENTS,
  readAudit,
  readChart,
  readEvent,
  type AuditModel,
  type AuditSlice,
  type AuditSource,
  type OpenEvent,
  type Tail,
} from "../pages/audit-source.ts";
import type { AuditView } from "../pages/audit-view.ts";
import { countedOf } from "../pages/time-chart.ts";
import { ApiError, read, reasonOf } from "./api.ts";
import { contentElement, pageContext } from "./live.ts";
import { morph } from "./morph.ts";

const MOST_ARRIVED = 200;
const CHART_EVERY_MS = 5_000;

/** What the page shows, and the only place that changes it. */
export class AuditScreen {
  #model: AuditModel | undefined;
  #view: AuditView = {};
  #underWay: AbortController | undefined;
  #arrived: AuditEvent[] = [];
  #tail: Tail = { state: "off" };
  #chartAt = 0;

  /** The view that is shown, or on its way. */
  get view(): AuditView {
    return this.#view;
  }

  get model(): AuditModel | undefined {
    return this.#model;
  }

  /** Reads a view and shows it; one that is still being read is given up. */
  async load(view: AuditView): Promise<void> {
    this.#view = view;
    this.#underWay?.abort();
    const own = new AbortController();
    this.#underWay = own;
    document.getElementById("audit-rows")?.setAttribute("aria-busy", "true");
    try {
      const model = await readAudit(sourceOf(own.signal), pageContext(), view);
      if (own.signal.aborted) return;
      this.#arrived = [];
      // What was opened or begun meanwhile stays so.
      const open = this.#view.event === view.event ? model.open : this.#model?.open;
      this.#show({ ...model, view: this.#view, ...(open && { open }) });
    } catch (error) {
      if (own.signal.aborted || isSignedOut(error)) return;
      this.#fail(error);
    } finally {
      if (this.#underWay === own) this.#underWay = undefined;
      document.getElementById("audit-rows")?.removeAttribute("aria-busy");
    }
  }

  /** Shows a view of the same list, in which another event, or none, is open. */
  async open(view: AuditView): Promise<void> {
    this.#view = view;
    const { event: id } = view;
    const found = this.#model?.list?.events.find((event) => event.id === id);
    let open: OpenEvent | undefined = found && { event: found };
    try {
      if (id !== undefined) open ??= await readEvent(sourceOf(), id);
    } catch (error) {
      if (!isSignedOut(error)) this.#fail(error);
      return;
    }
    if (this.#view.event !== id || !this.#model) return;
    const { open: _, ...model } = this.#model;
    this.#show({ ...model, view: this.#view, ...(open && { open }) });
  }

  /** Shows the next page of the list below what is there. */
  async loadOlder(): Promise<void> {
    const { list, query } = this.#model ?? {};
    if (!list?.next_cursor || !query || this.#underWay) return;
    const own = new AbortController();
    this.#underWay = own;
    try {
      const older = await sourceOf(own.signal).page(query, PAGE_EVENTS, list.next_cursor);
      if (own.signal.aborted || !this.#model?.list) return;
      this.#show({ ...this.#model, list: withOlder(this.#model.list, older) });
    } catch (error) {
      if (!own.signal.aborted && !isSignedOut(error)) this.#fail(error);
    } finally {
      if (this.#underWay === own) this.#underWay = undefined;
    }
  }

  /** Shows the state of the live tail. */
  showTail(tail: Tail): void {
    const isSame = tail.state === this.#tail.state && tail.note === this.#tail.note;
    this.#tail = tail;
    if (!isSame && this.#model) this.#show(this.#model);
  }

  /** Takes events that arrived: into the list at once, or behind a button while somebody reads. */
  takeArrived(events: readonly AuditEvent[], isReading: boolean): void {
    this.#arrived.push(...events.slice(-MOST_ARRIVED - 1));
    if (!isReading) return this.showArrived();
    if (this.#model) this.#show(this.#model);
  }

  /** Puts what arrived into the list; when that is more than people read, reads the list anew. */
  showArrived(): void {
    const arrived = this.#arrived;
    if (!this.#model?.list || arrived.length > MOST_ARRIVED || this.#isLong()) {
      void this.load(this.#view);
      return;
    }
    this.#arrived = [];
    const list = withArrivals(this.#model.list, arrived);
    const hadNone = this.#model.list.total === 0;
    this.#show({ ...this.#model, list });
    if (hadNone || performance.now() - this.#chartAt >= CHART_EVERY_MS)
      void this.#refreshChart(list);
  }

  /** Says what went wrong above what is shown, which stays. */
  #fail(error: unknown): void {
    const problem = `${reasonOf(error)}. What is shown may be old`;
    this.#show({ ...(this.#model ?? { ...pageContext(), view: this.#view, query: {} }), problem });
  }

  /** Whether the list grew so long by itself that it is better begun anew. */
  #isLong(): boolean {
    return (this.#model?.list?.events.length ?? 0) > 10 * PAGE_EVENTS;
  }

  async #refreshChart(list: AuditSlice): Promise<void> {
    this.#chartAt = performance.now();
    const { query } = this.#model ?? {};
    if (!query) return;
    try {
      const chart = await readChart(sourceOf(), query, list, pageContext().now);
      if (this.#model?.query === query) this.#show({ ...this.#model, chart });
    } catch {
      // The list is what matters; the next events bring the next try.
    }
  }

  #show(model: AuditModel): void {
    this.#model = model;
    const { now } = pageContext();
    const arrived = this.#arrived.length;
    morph(contentElement(), auditPage({ ...model, now, tail: this.#tail, arrived }));
  }
}

/** Read once: what they are good for is a list to choose from. */
let providerNames: Promise<readonly string[]> | undefined;

async function readProviderNames(): Promise<readonly string[]> {
  try {
    return (await read<{ readonly providers: readonly string[] }>("/provider-names")).providers;
  } catch {
    return []; // one types the name then
  }
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

function sourceOf(signal?: AbortSignal): AuditSource {
  const options = signal ? { signal } : {};
  return {
    page: (query, limit, cursor) =>
      read<AuditSlice>("/audit", { ...options, query: { ...query, limit, cursor } }),
    async histogram(query, interval) {
      const asked = { ...options, query: { ...query, interval } };
      return countedOf(await read<Histogram>("/audit/histogram", asked));
    },
    event: (id) => read<AuditEvent>(`/audit/${encodeURIComponent(id)}`, options),
    providers: () => (providerNames ??= readProviderNames()),
    problemOf(error) {
      const isRefusal = error instanceof ApiError && error.status >= 400 && error.status < 500;
      return isRefusal && error.status !== 401 ? error.message : undefined;
    },
  };
}
