"use strict";
const frame = JSON.parse(document.getElementById("result").textContent);
const sections = Array.from(document.querySelectorAll("section.file"));

function show(section, side) {
  for (const part of section.querySelectorAll(".side")) part.classList.toggle("hidden", part.dataset.side !== side);
  for (const part of section.querySelectorAll(".boxes")) part.classList.toggle("shown", part.dataset.side === side);
}

sections.forEach((section) => {
  show(section, "1");
  section.addEventListener("change", (event) => {
    if (event.target.classList.contains("choose")) show(section, event.target.value);
  });
});

function field(name) {
  return document.querySelector(`[name="${name}"]`).value.trim();
}

function signed() {
  const faults = [];
  const files = frame.files.map((file, position) => {
    const number = position + 1;
    const verdict = document.querySelector(`[name="verdict-${number}"]:checked`);
    const converter = field(`converter-${number}`);
    if (!verdict) faults.push(`File ${number}: give a verdict.`);
    else if (!converter && verdict.value !== "bad") faults.push(`File ${number}: choose a converter.`);
    return { ...file, verdict: verdict ? verdict.value : "", converter, comment: field(`comment-${number}`) };
  });
  const reviewer = document.getElementById("reviewer").value.trim();
  const reviewedOn = document.getElementById("reviewed-on").value;
  if (reviewer.length < 2) faults.push("Name the reviewer.");
  if (!reviewedOn) faults.push("Give the date of the review.");
  if (!document.getElementById("confirmed").checked) faults.push("Confirm that every file was looked at.");
  document.getElementById("missing").textContent = faults.slice(0, 8).join("\n");
  if (faults.length) return null;
  return { ...frame, files, reviewer, reviewed_on: reviewedOn, comment: document.getElementById("comment").value.trim() };
}

document.getElementById("download").addEventListener("click", () => {
  const result = signed();
  if (!result) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(result, null, 2)], { type: "application/json" }));
  link.download = `audit-${frame.corpus}-${frame.report_id.slice(0, 12)}.json`;
  document.body.append(link);
  link.click();
  link.remove();
  document.getElementById("missing").textContent = "";
});
