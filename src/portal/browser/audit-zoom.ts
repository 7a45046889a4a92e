/** Zooms when the reader drags over the chart; a plain click follows the bar's link. */

const LEAST_PIXELS = 6;

/** Calls back with the span that was dragged over, in milliseconds. */
export function serveZoom(content: HTMLElement, zoom: (from: number, to: number) => void): void {
  let dragged = false;
  content.addEventListener("dragstart", (event) => {
    // Otherwise the browser drags the link itself.
    if (event.target instanceof Element && event.target.closest("#audit-time .plot")) {
      event.preventDefault();
    }
  });
  content.addEventListener("pointerdown", (event) => {
    dragged = false;
    const plot = event.target instanceof Element ? event.target.closest("#audit-time .plot") : null;
    if (!plot || event.button !== 0 || event.pointerType === "touch") return;
    const drag = new Drag(plot, event.clientX);
    const stop = new AbortController();
    const { signal } = stop;
    addEventListener("pointermove", ({ clientX }) => drag.moveTo(clientX), { signal });
    const end = (isWanted: boolean): void => {
      stop.abort();
      drag.remove();
      dragged = drag.isFar;
      if (isWanted && drag.isFar) zoom(...drag.span());
    };
    addEventListener("pointerup", () => end(true), { signal });
    addEventListener("pointercancel", () => end(false), { signal });
    addEventListener("keydown", ({ key }) => key === "Escape" && end(false), { signal });
  });
  content.addEventListener(
    "click",
    (event) => {
      if (!dragged) return;
      dragged = false;
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
}

/** A drag in progress, and the rectangle that shows it. */
class Drag {
  readonly #plot: Element;
  readonly #from: number;
  #to: number;
  readonly #mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");

  constructor(plot: Element, x: number) {
    this.#plot = plot;
    this.#from = x;
    this.#to = x;
    this.#mark.setAttribute("class", "zoom");
    this.#mark.setAttribute("height", "100%");
    plot.append(this.#mark);
  }

  get isFar(): boolean {
    return Math.abs(this.#to - this.#from) >= LEAST_PIXELS;
  }

  moveTo(x: number): void {
    this.#to = x;
    if (!this.isFar) return;
    const [start, end] = this.#parts();
    this.#mark.setAttribute("x", `${100 * start}%`);
    this.#mark.setAttribute("width", `${100 * (end - start)}%`);
  }

  remove(): void {
    this.#mark.remove();
  }

  /** The moments at both ends, in milliseconds. */
  span(): [number, number] {
    const place = this.#plot.closest<HTMLElement>("[data-start]");
    const start = Number(place?.dataset["start"]);
    const length = Number(place?.dataset["end"]) - start;
    const [from, to] = this.#parts();
    return [Math.floor(start + from * length), Math.ceil(start + to * length)];
  }

  #parts(): [number, number] {
    const { left, width } = this.#plot.getBoundingClientRect();
    const part = (x: number): number => Math.min(1, Math.max(0, (x - left) / width));
    const ends = [part(this.#from), part(this.#to)];
    return [Math.min(...ends), Math.max(...ends)];
  }
}
