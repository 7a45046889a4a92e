import type { AuditEvent } from "../../audit/schema.ts";
import { missedBy, withArrivals, withOlder } from "../pages/audit-arrivals.ts";
import { auditEventPanel } from "../pages/audit-event.ts";
import { auditRows } from "../pages/audit-rows.ts";
import { auditPage, liveButton } from "../pages/audit.ts";
import {
  PAGE_EVENTS,
  readAudit,
  readChart,
  readEvent,
  type AuditModel,
  type AuditSlice,
  type OpenEvent,
  type Tail,
} from "../pages/audit-source.ts";
import { queryOf, readView, type AuditView } from "../pages/audit-view.ts";
import { isSignedOut, pageSource, reasonOf } from "./api.ts";
import { appendRows, setBusy, showPanel, showProblem, showTailButton } from "./audit-pieces.ts";
import { pageContext, show } from "./live.ts";

const MOST_ARRIVED = 200;
const CHART_EVERY_MS = 5_000;

/** What the page shows, and the only place that changes it. */
export class AuditScreen {
  #model: AuditModel | undefined;
  #view: AuditView = {};
  #underWay: AbortController | undefined;
  readonly #isReading: () => boolean;
  #arrived: AuditEvent[] = [];
  /** What arrived since the load that is under way began, whose list may not have it. */
  #meanwhile: AuditEvent[] | undefined;
  #tail: Tail = { state: "off" };
  #chartAt = 0;

  /** @param isReading whether the reader looks or points at the rows, which then must not move */
  constructor(isReading: () => boolean) {
    this.#isReading = isReading;
  }

  /** The view that is shown, or on its way. */
  get view(): AuditView {
    return this.#view;
  }

  /** Whether a list is shown, rendered by the server or here. */
  get hasList(): boolean {
    return document.getElementById("audit-rows") !== null;
  }

  /** Takes over a page that the server made: its data is not read again until something is asked for. */
  adopt(view: AuditView): void {
    this.#view = view;
  }

  /** Reads a view and shows it, the list before the chart; one that is still being read is given up. */
  async load(view: AuditView): Promise<void> {
    this.#view = view;
    this.#underWay?.abort();
    const own = new AbortController();
    this.#underWay = own;
    this.#meanwhile = [];
    setBusy(true);
    let isListShown = false;
    const showList = (model: AuditModel): void => {
      // Without a chart that stays meanwhile the list would be moved by the one that comes.
      isListShown = view.event === undefined && document.getElementById("audit-time") !== null;
      if (!own.signal.aborted && isListShown)
        this.#showLoaded({ ...model, keepsChart: true }, view);
    };
    try {
      const source = pageSource(own.signal);
      const model = await readAudit(source, pageContext(), view, showList);
      if (own.signal.aborted) return;
      if (isListShown) this.#complete(model);
      else this.#showLoaded(model, view);
    } catch (error) {
      if (own.signal.aborted || isSignedOut(error)) return;
      this.#fail(error);
    } finally {
      if (this.#underWay === own) {
        this.#underWay = undefined;
        this.#meanwhile = undefined;
        setBusy(false);
      }
    }
  }

  /** Shows a view of the same list, in which another event, or none, is open. */
  async open(view: AuditView): Promise<void> {
    const isOpen = document.getElementById("audit-event") !== null;
    const isSame = view.event === this.#view.event && isOpen === (view.event !== undefined);
    this.#view = view;
    const { event: id } = view;
    if (isSame) {
      if (this.#model) this.#model = { ...this.#model, view };
      return;
    }
    let open: OpenEvent | undefined;
    try {
      if (id !== undefined) open = await this.#read(id);
    } catch (error) {
      if (!isSignedOut(error)) this.#fail(error);
      return;
    }
    if (this.#view.event !== id) return;
    if (this.#model) {
      const { open: _, ...model } = this.#model;
      this.#model = { ...model, view: this.#view, ...(open && { open }) };
    }
    showPanel(auditEventPanel({ ...pageContext(), view, ...(open && { open }) }), id);
  }

  /** The event that is open, with all its fields. */
  async readOpen(): Promise<AuditEvent | undefined> {
    const { event: id } = this.#view;
    const open = id === undefined ? undefined : await this.#read(id);
    return open && "event" in open ? open.event : undefined;
  }

  async #read(id: string): Promise<OpenEvent> {
    const { list, open } = this.#model ?? {};
    if (open && "event" in open && open.event.id === id) return open;
    const [found, other] = list?.events.filter((event) => event.id === id) ?? [];
    // Where two reporters used the id, the service says which event it stands for.
    return found && !other ? { event: found } : readEvent(pageSource(), id);
  }

  /** Shows the next page of the list, as its link says, below what is there. */
  async loadOlder(): Promise<void> {
    const link = document.getElementById("older");
    if (!(link instanceof HTMLAnchorElement) || this.#underWay) return;
    const { searchParams } = new URL(link.href);
    const next = readView((name) => searchParams.get(name));
    const query = queryOf(next, pageContext().now);
    const own = new AbortController();
    this.#underWay = own;
    try {
      const older = await pageSource(own.signal).page(query, PAGE_EVENTS, next.cursor);
      if (own.signal.aborted) return;
      if (this.#model?.list) {
        this.#model = { ...this.#model, list: withOlder(this.#model.list, older) };
      }
      const above = document.querySelectorAll("#audit-rows .row").length;
      appendRows(auditRows({ ...pageContext(), view: this.#view, query }, older, above));
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
    if (!isSame) showTailButton(liveButton({ view: this.#view, tail }));
  }

  /** Takes events that arrived: into the list at once, or behind a button while the reader is in the list. */
  takeArrived(events: readonly AuditEvent[]): void {
    const newest = events.slice(-MOST_ARRIVED - 1);
    this.#arrived.push(...newest);
    this.#meanwhile?.push(...newest);
    if (!this.#isReading()) return this.showArrived();
    if (this.#model) this.#show(this.#model);
  }

  /** Puts what arrived into the list; when that is more than people read, reads the list anew. */
  showArrived(): void {
    const arrived = this.#arrived;
    if (!this.#model?.list || arrived.length > MOST_ARRIVED || this.#isLong()) {
      // One that is under way brings them; to begin it anew with every event would never end it.
      if (!this.#meanwhile) void this.load(this.#view);
      return;
    }
    this.#arrived = [];
    const list = withArrivals(this.#model.list, arrived);
    const hadNone = this.#model.list.total === 0;
    this.#show({ ...this.#model, list });
    if (hadNone || performance.now() - this.#chartAt >= CHART_EVERY_MS)
      void this.#refreshChart(list);
  }

  #showLoaded(model: AuditModel, asked: AuditView): void {
    this.#arrived = model.list ? [...missedBy(model.list, this.#meanwhile ?? [])] : [];
    this.#meanwhile = undefined;
    // What was opened or begun meanwhile stays so.
    const open = this.#view.event === asked.event ? model.open : this.#model?.open;
    this.#show({ ...model, view: this.#view, ...(open && { open }) });
    if (this.#arrived.length > 0 && !this.#isReading()) this.showArrived();
  }

  /** Adds to a list that is shown what came after it. */
  #complete({ chart, providers }: AuditModel): void {
    if (!this.#model) return;
    const { keepsChart: _, ...shown } = this.#model;
    this.#show({ ...shown, ...(chart && { chart }), ...(providers && { providers }) });
  }

  /** Says what went wrong above what is shown, which stays. */
  #fail(error: unknown): void {
    const problem = `${reasonOf(error)}. What is shown may be old`;
    if (!this.#model && this.hasList) return showProblem(problem);
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
      const chart = await readChart(pageSource(), query, list, pageContext().now);
      if (this.#model?.query === query) this.#show({ ...this.#model, chart });
    } catch {
      // The list is what matters; the next events bring the next try.
    }
  }

  #show(model: AuditModel): void {
    this.#model = model;
    const { now } = pageContext();
    const arrived = this.#arrived.length;
    show(auditPage({ ...model, now, tail: this.#tail, arrived }));
  }
}
