"""Wording of the sample logs: invented policies of an invented company, and the questions asked about them.

Kept apart from make_samples.py so that the words can be read without the plumbing. Nothing here is shared with the
training corpus of the embedded proxy or with the fault suite.
"""

NEW_FROM = "2025-07-01"
OLD = ("2024-01-01", "2025-06-30")

# doc_id: (title, language, old text, new text, span that holds the rule, span that holds the personnel condition)
# `{}` takes the validity line. Index versions are given in INDEXED below.
POLICIES = {
    "hotel-cap": (
        "Hotel cap", "en",
        "Hotel nights. {} Employees: up to 120 EUR a night. Contractors: up to 80 EUR a night.",
        "Hotel nights. {} Employees: up to 150 EUR a night. Contractors: up to 90 EUR a night, approved first.",
        "Employees: up to 150 EUR a night.",
        "Contractors: up to 90 EUR a night, approved first."),
    "meal-money": (
        "Meal money", "en",
        "Meals on trips. {} Employees: 48 EUR a day. Contractors: nothing.",
        "Meals on trips. {} Employees: 60 EUR a day. Contractors: 40 EUR a day with a signed order.",
        "Employees: 60 EUR a day.",
        "Contractors: 40 EUR a day with a signed order."),
    "train-class": (
        "Train class", "en",
        "Rail travel. {} Employees: second class. Contractors: second class.",
        "Rail travel. {} Employees: first class above 240 km. Contractors: second class at any distance.",
        "Employees: first class above 240 km.",
        "Contractors: second class at any distance."),
    "car-rate": (
        "Own car rate", "en",
        "Driving your own car. {} Employees: 30 cents per km. Contractors: 30 cents per km.",
        "Driving your own car. {} Employees: 38 cents per km. Contractors: 25 cents per km.",
        "Employees: 38 cents per km.",
        "Contractors: 25 cents per km."),
    "laptop-swap": (
        "Laptop swap", "en",
        "New laptops. {} Employees: after 48 months. Interns: no swap.",
        "New laptops. {} Employees: after 36 months. Interns: a loan machine only.",
        "Employees: after 36 months.",
        "Interns: a loan machine only."),
    "course-budget": (
        "Course budget", "en",
        "Courses. {} Employees: 600 EUR a year. Interns: 100 EUR a year.",
        "Courses. {} Employees: 900 EUR a year. Interns: 250 EUR a year, mentor must agree.",
        "Employees: 900 EUR a year.",
        "Interns: 250 EUR a year, mentor must agree."),
    "badge-guest": (
        "Guest badge", "en",
        "Guests. {} Employees: may bring 2 guests. Interns: may bring 1 guest.",
        "Guests. {} Employees: may bring 4 guests. Interns: no guests without a host.",
        "Employees: may bring 4 guests.",
        "Interns: no guests without a host."),
    "taxi-zh": (
        "出租车费", "zh",
        "市内打车。{}正式员工:每天最多80元。外包人员:不报销。",
        "市内打车。{}正式员工:每天最多130元。外包人员:每天最多60元,须主管签字。",
        "正式员工:每天最多130元。",
        "外包人员:每天最多60元,须主管签字。"),
    "overtime-zh": (
        "加班餐补", "zh",
        "加班用餐。{}正式员工:每餐30元。实习生:每餐20元。",
        "加班用餐。{}正式员工:每餐45元。实习生:每餐25元,不得晚于21点。",
        "正式员工:每餐45元。",
        "实习生:每餐25元,不得晚于21点。"),
    "phone-zh": (
        "话费补贴", "zh",
        "手机话费。{}正式员工:每月100元。外包人员:无补贴。",
        "手机话费。{}正式员工:每月160元。外包人员:每月50元,凭发票。",
        "正式员工:每月160元。",
        "外包人员:每月50元,凭发票。"),
    "leave-zh": (
        "陪护假", "zh",
        "陪护家人。{}正式员工:每年3天。实习生:没有陪护假。",
        "陪护家人。{}正式员工:每年7天。实习生:每年2天,不带薪。",
        "正式员工:每年7天。",
        "实习生:每年2天,不带薪。"),
    "dorm-zh": (
        "宿舍押金", "zh",
        "员工宿舍。{}正式员工:押金500元。外包人员:押金800元。",
        "员工宿舍。{}正式员工:免押金。外包人员:押金1200元,离开时退还。",
        "正式员工:免押金。",
        "外包人员:押金1200元,离开时退还。"),
    "lab-zh": (
        "实验室门禁", "zh",
        "夜间进实验室。{}正式员工:到22点。实习生:到18点。",
        "夜间进实验室。{}正式员工:到24点。实习生:到20点,须有人陪同。",
        "正式员工:到24点。",
        "实习生:到20点,须有人陪同。"),
}

# Index versions that hold the new text. idx-2025-06 was built before some of the new texts came in.
ALL_INDEXES = ["idx-2025-06", "idx-2025-08"]
MISSED_BY_OLD_INDEX = ["meal-money", "train-class", "taxi-zh", "overtime-zh"]

SYSTEM = {
    "en": "You are the policy desk of Juniper Works. Use search_policy. Answer from the version valid on the day "
          "asked and cite it as [id version]. If a condition is missing, ask.",
    "zh": "你是青松公司的制度助手。请用 search_policy 查询,只按提问当日有效的版本回答,并注明 [编号 版本]。缺少条件时先询问。",
}

# Half one of the teaching case: the new version never came back.
# (doc_id, question, search words, recorded answer, right answer)
NEVER_RETRIEVED = [
    ("meal-money", "I am an employee. What meal money do I get per day in Oslo on 2025-09-03?", "meal money trip",
     "You get 48 EUR a day [meal-money v1].", "You get 60 EUR a day [meal-money v2]."),
    ("meal-money", "Employee here, trip to Turin from 2025-10-06. Daily meals?", "meals on trips per day",
     "As an employee you may claim 48 EUR a day [meal-money v1].",
     "As an employee you may claim 60 EUR a day [meal-money v2]."),
    ("train-class", "I am an employee and ride 310 km by train on 2025-08-19. Which class?", "train class employee",
     "Book second class [train-class v1].", "Book first class, the ride is above 240 km [train-class v2]."),
    ("train-class", "Which train class may an employee book for 275 km on 2025-11-02?", "rail travel class",
     "An employee books second class [train-class v1].",
     "An employee books first class above 240 km [train-class v2]."),
    ("car-rate", "I am an employee and drove my own car on 2025-09-15. Rate per km?", "own car rate",
     "The rate is 30 cents per km [car-rate v1].", "The rate is 38 cents per km [car-rate v2]."),
    ("taxi-zh", "我是正式员工,2025-09-10 市内打车一天最多报多少?", "打车 报销",
     "一天最多80元 [taxi-zh v1]。", "一天最多130元 [taxi-zh v2]。"),
    ("taxi-zh", "正式员工,2025-10-21 打车费每天上限是多少?", "出租车费 上限",
     "每天上限80元 [taxi-zh v1]。", "每天上限130元 [taxi-zh v2]。"),
    ("overtime-zh", "我是正式员工,2025-08-28 加班,每餐补多少?", "加班 餐补",
     "每餐补30元 [overtime-zh v1]。", "每餐补45元 [overtime-zh v2]。"),
    ("overtime-zh", "正式员工 2025-12-05 加班用餐的标准?", "加班用餐 标准",
     "标准是每餐30元 [overtime-zh v1]。", "标准是每餐45元 [overtime-zh v2]。"),
    ("phone-zh", "我是正式员工,2025-09-01 起话费每月补多少?", "手机话费 补贴",
     "每月补100元 [phone-zh v1]。", "每月补160元 [phone-zh v2]。"),
]

# Half two: all evidence was in the prompt, and the answer missed the personnel condition.
MISSED_CONDITION = [
    ("laptop-swap", "I am an intern. When can I swap my laptop? Today is 2025-09-08.", "laptop swap",
     "You can swap it after 36 months [laptop-swap v2].",
     "As an intern you get a loan machine only [laptop-swap v2]."),
    ("laptop-swap", "Intern asking on 2025-10-14: is a new laptop possible?", "new laptops intern",
     "Yes, after 36 months [laptop-swap v2].", "No, interns get a loan machine only [laptop-swap v2]."),
    ("course-budget", "I am an intern. How much may I spend on courses? Today is 2025-08-22.", "course budget",
     "You may spend 900 EUR a year [course-budget v2].",
     "You may spend 250 EUR a year, and your mentor must agree [course-budget v2]."),
    ("course-budget", "What is the yearly course money for an intern, as of 2025-11-11?", "courses yearly money",
     "The course money is 900 EUR a year [course-budget v2].",
     "The course money is 250 EUR a year, mentor must agree [course-budget v2]."),
    ("badge-guest", "I am an intern. How many guests may I bring on 2025-09-30?", "guest badge",
     "You may bring 4 guests [badge-guest v2].", "You may bring no guests without a host [badge-guest v2]."),
    ("leave-zh", "我是实习生,2025-09-18 想请陪护假,有几天?", "陪护假 天数",
     "每年7天 [leave-zh v2]。", "每年2天,不带薪 [leave-zh v2]。"),
    ("leave-zh", "实习生 2025-10-09 能休几天陪护假?", "实习生 陪护假",
     "能休7天 [leave-zh v2]。", "能休2天,不带薪 [leave-zh v2]。"),
    ("dorm-zh", "我是外包人员,2025-08-30 入住宿舍要交押金吗?", "宿舍 押金",
     "不用,免押金 [dorm-zh v2]。", "要,押金1200元,离开时退还 [dorm-zh v2]。"),
    ("dorm-zh", "外包人员 2025-11-20 住宿舍,押金多少?", "宿舍押金 多少",
     "免押金 [dorm-zh v2]。", "押金1200元,离开时退还 [dorm-zh v2]。"),
    ("lab-zh", "我是实习生,2025-09-25 晚上实验室能待到几点?", "实验室 夜间",
     "可以待到24点 [lab-zh v2]。", "可以待到20点,须有人陪同 [lab-zh v2]。"),
]
