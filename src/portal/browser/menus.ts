/** Closes the menus of the page: by a click beside them, by a link or a button that is done, and by Escape. */
export function serveMenus(content: HTMLElement): void {
  content.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element)) return;
    for (const menu of openMenus(content)) {
      if (!menu.contains(target)) menu.open = false;
      else if (target.closest("a")) closeMenu(menu);
    }
  });
  content.addEventListener("keydown", (event) => {
    const menu = openMenus(content)[0];
    if (event.key !== "Escape" || !menu) return;
    event.stopPropagation(); // the page's own Escape closes what lies behind the menu
    closeMenu(menu);
  });
}

function openMenus(content: HTMLElement): readonly HTMLDetailsElement[] {
  return [...content.querySelectorAll<HTMLDetailsElement>("details.menu[open]")];
}

function closeMenu(menu: HTMLDetailsElement): void {
  menu.open = false;
  menu.querySelector("summary")?.focus();
}
