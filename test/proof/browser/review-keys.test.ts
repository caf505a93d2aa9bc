import { expect, test } from 'vitest';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { asset, file, products } from '../../rig/review/campaign.ts';
import { openReview } from '../../rig/review/open-page.ts';

const browser = await chromiumOfFile();

const at = (group: number, take: number) => `hero@p00${group},take:${take}`;

test('arrows, brackets and J K move the one thing that is active; it has the keyboard', async () => {
  const { page, press, isActive } = await openReview(browser, products(6, 4));
  await isActive(at(1, 1));
  await press('ArrowRight', 'ArrowRight');
  await isActive(at(1, 3));
  await press(']');
  await isActive(at(2, 3));
  await press('ArrowLeft', '[');
  await isActive(at(1, 2));
  await press('ArrowDown');
  await isActive(at(2, 2));
  await press('ArrowUp', 'ArrowUp');
  await isActive(at(1, 2));
  await press('j', 'j');
  await isActive(at(3, 1));
  await press('k');
  await isActive(at(2, 1));
  expect(await page.locator('.active[data-address]').count()).toBe(1);
  expect(await page.evaluate('document.activeElement.dataset.asset')).toBe(at(2, 1));
});

test('P, X, U and digits decide about the active one alone, and lead to the neighbour', async () => {
  const { page, host, press, isActive } = await openReview(browser, products(4, 3));
  await isActive(at(1, 1));
  await press('x');
  await isActive(at(1, 2));
  await press('p');
  await isActive(at(2, 1));
  await press('3');
  await isActive(at(3, 1));
  await page.getByText('2 of 4 groups decided').waitFor();
  await press('[', 'ArrowLeft');
  await isActive(at(1, 3));
  await press('ArrowLeft', 'u');
  await isActive(at(1, 2));
  await page.getByText('1 of 4 groups decided').waitFor();
  await page
    .locator('.said')
    .getByText(`Undecided again: ${at(1, 2)}.`)
    .waitFor();
  await expect
    .poll(() => host.data.assets.filter(({ verdict }) => verdict).map(({ address, verdict }) => [address, verdict?.is]))
    .toEqual([
      [at(1, 1), 'rejected'],
      [at(2, 3), 'picked'],
    ]);
});

test('undo is a stack, leads back to what it was about, and redo gives back what it took; ⌘ is Ctrl', async () => {
  const { page, press, isActive } = await openReview(browser, products(4, 3));
  const decided = (count: number) => page.getByText(`${count} of 4 groups decided`).waitFor();
  const says = (text: string) => page.locator('.said').getByText(text).waitFor();
  await isActive(at(1, 1));
  await press('2', '1', 'Control+z');
  await isActive(at(2, 1));
  await says(`Undone: ${at(2, 1)} is undecided.`);
  await press('Meta+z');
  await isActive(at(1, 2));
  await decided(0);
  await press('Control+z');
  await says('Nothing to undo.');
  await press('Control+Shift+z');
  await decided(1);
  await isActive(at(1, 2));
  await says(`Done again: ${at(1, 2)} is picked.`);
  await press('Control+y');
  await decided(2);
  await press('Meta+Shift+z');
  await says('Nothing to redo.');
});

test('keys are ignored in fields, and with Alt, Meta and Ctrl', async () => {
  const { page, press, active, isActive } = await openReview(browser, products(3, 3));
  await isActive(at(1, 1));
  await press('Alt+p', 'Meta+p', 'Control+x');
  expect(await active()).toBe(at(1, 1));
  await press('/');
  await page.keyboard.type('p002');
  await isActive(at(2, 1));
  expect(await page.locator('#search').inputValue()).toBe('p002');
  await press('Enter', 'p');
  await page.getByText('1 of 3 groups decided').waitFor();
});

test('an undo survives a reload, and gives back what somebody else had picked meanwhile', async () => {
  const { page, host, press, isActive } = await openReview(browser, products(4, 3));
  await isActive(at(1, 1));
  await press('2');
  await expect.poll(() => host.data.assets[1]?.verdict?.is).toBe('picked');
  // The page asks whether to leave as long as it does not know that the verdict has arrived.
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  // What is decided is not where one goes on.
  await isActive(at(2, 1));
  await press('Control+z');
  await expect.poll(() => host.data.assets[1]?.verdict).toBeUndefined();
  await isActive(at(1, 2));
  // Another tab is quicker by the time in which verdicts gather here.
  host.mode = 'held';
  await press('2');
  host.change((data) => ({
    ...data,
    groups: data.groups.map((group, index) =>
      index === 0 && group.gate ? { ...group, gate: { ...group.gate, state: 'decided' } } : group,
    ),
    assets: data.assets.map((one, index) => (index === 0 ? { ...one, verdict: { is: 'picked' } } : one)),
  }));
  await page
    .locator('.said')
    .getByText(`${at(1, 1)} was picked elsewhere`)
    .waitFor();
  host.mode = 'open';
  await expect.poll(() => host.data.assets[1]?.verdict?.is).toBe('picked');
  await press('Control+z');
  await expect
    .poll(() => host.data.assets.map(({ verdict }) => verdict?.is).slice(0, 3))
    .toEqual(['picked', undefined, undefined]);
});

test('brackets may be typed with AltGr', async () => {
  const { page, isActive } = await openReview(browser, products(4, 3));
  const dispatch = (init: string) =>
    page.evaluate(`document.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ${init} }))`);
  await isActive(at(1, 1));
  await dispatch(`key: ']', ctrlKey: true, altKey: true, modifierAltGraph: true`);
  await isActive(at(2, 1));
  await dispatch(`key: ']', ctrlKey: true, altKey: true`);
  await isActive(at(2, 1));
});

test('held, a key or a button decides once, and nothing of it gets into the field that it opens', async () => {
  const data = products(4, 3);
  const { page, press, isActive } = await openReview(browser, {
    ...data,
    groups: data.groups.map((group) => ({
      ...group,
      ...(group.gate && { gate: { ...group.gate, reasons: ['hands'] } }),
    })),
  });
  const hold = async (key: string) => {
    for (let n = 0; n < 4; n += 1) await page.keyboard.down(key);
    await page.keyboard.up(key);
  };
  await isActive(at(1, 1));
  await page.keyboard.down('Shift');
  await hold('Digit1');
  await page.keyboard.up('Shift');
  await isActive(at(1, 2));
  expect(await page.locator('.tile.rejected').count()).toBe(1);
  await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Pick' }).focus();
  await hold('Enter');
  await page.getByText('1 of 4 groups decided').waitFor();
  await isActive(at(2, 1));
  await hold('x');
  await isActive(at(2, 2));
  await press('ArrowLeft');
  await hold('n');
  expect(await page.locator('.note input').inputValue()).toBe('');
  await hold('a');
  expect(await page.locator('.note input').inputValue()).toBe('aaaa');
  await press('Escape');
  await hold('?');
  await page.getByRole('dialog').waitFor();
  await press('Escape');
  await hold(']');
  await isActive(at(4, 1));
});

test('Esc ends what is being composed, and then the field', async () => {
  const { page, press } = await openReview(browser, products(2, 2));
  await press('x', 'ArrowLeft', 'n');
  await page.keyboard.type('a');
  const keyboard = await page.context().newCDPSession(page);
  await keyboard.send('Input.imeSetComposition', { selectionStart: 2, selectionEnd: 2, text: 'にほ' });
  await press('Escape');
  expect(await page.locator('.note input').inputValue()).toContain('a');
  await keyboard.send('Input.insertText', { text: '日本' });
  await press('Escape');
  expect(await page.locator('.note').count()).toBe(0);
});

test('views open above each other, Esc leads back, the active one stays', async () => {
  const { page, press, isActive } = await openReview(browser, products(3, 4));
  await press('ArrowRight', 'Enter');
  await page.locator('.loupe').waitFor();
  await isActive(at(1, 2));
  await press('ArrowRight', 'ArrowRight', 'ArrowRight');
  await isActive(at(2, 1));
  await press('c');
  await page.locator('.compare').waitFor();
  await press('Escape');
  await page.locator('.loupe').waitFor();
  await press('ArrowDown', 'Escape');
  await page.locator('.groups').waitFor();
  await isActive(at(3, 1));
  await press('?');
  await page.getByRole('dialog').getByText('the next output').waitFor();
  await press('p', 'Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('0 of 3 groups decided').waitFor();
});

test('everything by pointer: tiles, verdicts, views, undo, filters, help', async () => {
  const { page, isActive } = await openReview(browser, products(3, 3));
  const tile = (address: string) => page.locator(`[data-address="${address}"]`);
  await tile(at(1, 2)).locator('.face').click();
  await isActive(at(1, 2));
  await tile(at(1, 2))
    .getByRole('button', { name: `Pick ${at(1, 2)}` })
    .click();
  await isActive(at(1, 2));
  expect(await tile(at(1, 2)).getByRole('button', { name: 'Pick hero' }).getAttribute('aria-pressed')).toBe('true');
  await tile(at(2, 1)).locator('.face').click();
  await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Reject' }).click();
  await isActive(at(2, 2));
  await page.getByRole('button', { name: 'Undo' }).click();
  await isActive(at(2, 1));
  await tile(at(2, 1)).locator('.face').click();
  await page.getByRole('main', { name: 'Loupe' }).waitFor();
  await page.getByRole('button', { name: 'Groups' }).click();
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('searchbox', { name: 'Search' }).fill('nowhere');
  await page.getByRole('button', { name: 'Show everything' }).click();
  await isActive(at(1, 1));
  await page.getByRole('button', { name: 'Help' }).click();
  await page.getByRole('button', { name: 'Close' }).click();
});

test('a button that is half out of sight can be pressed: nothing moves under the pointer', async () => {
  const { page, isActive } = await openReview(browser, products(12, 4));
  await page.setViewportSize({ width: 1280, height: 800 });
  const button = page.locator('[data-address="hero@p003,take:2"]').getByRole('button', { name: 'Pick hero' });
  /** How much of the button is below the edge, in CSS pixels, once the layout of the window stands. */
  const hiddenNow = async () => {
    const groups = await page.locator('.groups').boundingBox();
    const { y = 0 } = (await button.boundingBox()) ?? {};
    return Math.round(y + 12 - (groups?.y ?? 0) - (groups?.height ?? 0));
  };
  await expect
    .poll(async () => {
      await page.evaluate(`document.querySelector('.groups').scrollTop += ${await hiddenNow()}`);
      await page.waitForTimeout(200);
      return hiddenNow();
    })
    .toBe(0);
  const box = await button.boundingBox();
  await page.mouse.click((box?.x ?? 0) + 20, (box?.y ?? 0) + 5);
  await isActive('hero@p003,take:2');
  await page.getByText('1 of 12 groups decided').waitFor();
});

test('what arrives during a run appears, and nothing else moves', async () => {
  const { page, host, press, isActive } = await openReview(browser, products(40, 4));
  for (let n = 0; n < 20; n += 1) await press(']');
  await press('ArrowRight');
  await isActive('hero@p021,take:2');
  const place = async () => {
    const [groups, active] = await Promise.all([
      page.locator('.groups').boundingBox(),
      page.locator('.active').boundingBox(),
    ]);
    return (active?.y ?? 0) - (groups?.y ?? 0);
  };
  await page.waitForTimeout(100);
  const before = await place();
  host.change((data) => {
    const extra = asset('hero@p021,take:5', { files: [file(900)] });
    const groups = data.groups.map((group, index) =>
      index === 20 ? { ...group, members: [...group.members, data.assets.length] } : group,
    );
    return { ...data, groups, assets: [...data.assets, extra], run: { is: 'running', text: '161 of 200 done' } };
  });
  await page.getByText('161 of 200 done').waitFor();
  await page.locator('[data-address="hero@p021,take:5"] img').waitFor();
  await isActive('hero@p021,take:2');
  expect(Math.abs((await place()) - before)).toBeLessThan(120);
});

test('small pictures of the active group are asked for before those around it', async () => {
  const { page, press, isActive } = await openReview(browser, products(30, 4));
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  const priorities = new Map<string, string>();
  network.on('Network.requestWillBeSent', ({ request: { url, initialPriority } }) => {
    const name = /thumb\/\d+$/.exec(url)?.[0];
    if (name !== undefined) priorities.set(name, initialPriority);
  });
  // Round the end, to a group of which nothing was seen yet.
  await press('k');
  await isActive('hero@p030,take:1');
  await expect.poll(() => priorities.size).toBeGreaterThanOrEqual(8);
  const first = [...priorities].filter(([, priority]) => priority === 'High').map(([name]) => name);
  expect(first.sort()).toEqual(['thumb/116', 'thumb/117', 'thumb/118', 'thumb/119']);
});
